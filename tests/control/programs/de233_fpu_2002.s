; cpu: de233_fpu
; seed: 2002
; steps: 385
; states: 0577c7aa3593cbeab1d751872b241b5401c3780b355f68c9ea0a18251cec8a94
        j start
        .align 4
literal0: .word 0x1
literal1: .word 0x80
literal2: .word 0xe2876adf
literal3: .word 0x20000
address0: .word function0
        .align 4
function0:
        entry a1, 64
        l32r a3, address0
        blti a2, 1, at1
        addi a6, a2, -1
        callx4 a3
        add a2, a2, a6
        xor a3, a2, a4
at1:
        addx2 a2, a2, a6
        retw.n
        .align 4
leaf:
        addx4 a2, a2, a3
        ret.n
start:

        movi a2, 1
        slli a2, a2, 18
        wsr.ps a2               ; windows on, handlers off
        rsync
        movi a2, 1
        wsr.windowstart a2
        rsync
        slli a1, a2, 16         ; the stack pointer, 0x10000
        addi a3, a1, 64
        addi a4, a1, -16
        s32i a3, a4, 4          ; the first frame's link
        movi a3, -1
        wsr.cpenable a3
        rsync
        slli a15, a2, 14        ; the data, 0x4000
        l32r a2, literal3
        l32r a3, literal3
        l32r a4, literal0
        movi a4, 1683
        l32r a5, literal0
        l32r a6, literal2
        l32r a7, literal3
        movi a7, -1727
        l32r a8, literal0
        movi a8, 1141
        l32r a9, literal3
        movi a9, -1366
        l32r a10, literal1
        movi a10, -1657
        l32r a11, literal2
        movi a11, -143
        l32r a12, literal2
        l32r a13, literal0
        movi a13, -1511
        l32r a14, literal1
        ill
        add a12, a10, a11
        movi a11, 1707
        salt a2, a13, a4
        orbc b4, b11, b11
        srli a4, a3, 3
        l32r a12, literal1
        s32ri a3, a15, 36
        subx4 a3, a2, a12
        movgez a12, a11, a13
        sext a11, a6, 18
        wur.threadptr a5
        ssai 0
        sll a3, a12
        sra a5, a2
        s16i a0, a15, 54
        add.n a8, a2, a6
        srli a3, a5, 0
        mul16u a13, a11, a5
        add.n a4, a4, a10
        j at2
        addi.n a3, a12, 14
at2:
        addmi a12, a1, 18432
        movi a7, -2
        loopgtz a7, at3
        minu a2, a13, a7
        movgez a10, a13, a12
        bgeui a3, 256, at3
at3:
        nsau a0, a3
at4:
        nsau a6, a1
        subx2 a10, a12, a8
        mul16s a2, a6, a8
        movi a14, 1
        call12 function0
        movi a15, 1
        slli a15, a15, 14
        movi a9, 2
        loopnez a9, at5
        movi a7, 3
        rems a6, a5, a7
        movgez a11, a0, a1
        neg a13, a1
        l16ui a8, a15, 100
at5:
        or a12, a0, a0
at6:
        movi a8, 26
        wsr.sar a8
        sra a2, a8
        l32ai a5, a15, 16
        movi a8, -2048
        quou a3, a13, a8
        break 1, 2
        movf a13, a3, b12
        all4 b6, b12
        srai a11, a9, 25

        movi a2, 1
        slli a3, a2, 14
        movi a4, 32
        loop a4, data_read
        l32i a5, a3, 0
        addi a3, a3, 4
data_read:
        slli a3, a2, 16
        addmi a3, a3, -512
        movi a4, 96
        loop a4, stack_read
        l32i a5, a3, 0
        addi a3, a3, 4
stack_read:
        movi a2, 1
        movi a3, 0
        nop
        simcall

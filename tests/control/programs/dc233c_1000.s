; cpu: dc233c
; seed: 1000
; steps: 1774
; states: 0b8a449ce6b8b0747fa8edb700b64c8d7abba7c8570808dd34a8c0218f376b88
        j start
        .align 4
literal0: .word 0xc700d84c
literal1: .word 0x64c38c41
literal2: .word 0x400
literal3: .word 0x215c58da
address0: .word function0
address1: .word function1
        .align 4
function0:
        entry a1, 80
        l32r a3, address1
        beqz a2, at1
        addi a14, a2, -1
        call12 function1
        add a2, a2, a14
        xor a6, a2, a4
at1:
        addx2 a2, a2, a2
        retw.n
        .align 4
function1:
        entry a1, 80
        l32r a3, address0
        beqz a2, at2
        addi a6, a2, -1
        callx4 a3
        add a2, a2, a6
        xor a7, a2, a9
at2:
        addx2 a2, a2, a7
        retw
        .align 4
leaf:
        addx4 a2, a2, a3
        ret
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
        l32r a2, literal0
        movi a2, 294
        l32r a3, literal0
        movi a3, -1913
        l32r a4, literal2
        movi a4, -1073
        l32r a5, literal1
        l32r a6, literal3
        movi a6, -180
        l32r a7, literal1
        movi a7, 1931
        l32r a8, literal0
        movi a8, 1705
        l32r a9, literal2
        movi a9, 248
        l32r a10, literal3
        movi a10, -1951
        l32r a11, literal0
        movi a11, -1434
        l32r a12, literal1
        movi a12, -1842
        l32r a13, literal2
        movi a13, -932
        l32r a14, literal2
        bbci a13, 25, at3
        l32r a2, literal3
at3:
        add.n a8, a6, a6
        movi a6, 9
        call4 function1
        movi a15, 1
        slli a15, a15, 14
        movi a3, 1
        loop a3, at4
        s32ri a11, a15, 40
        beqz.n a9, at5
        addx8 a13, a2, a12
        mul16u a3, a12, a7
at4:
        ssa8b a11
        sll a13, a0
        src a0, a7, a13
at5:
        addi.n a2, a11, 15
        beqi a8, 4, at6
        mul16u a11, a9, a13
        sext a13, a6, 19
at6:
        l32r a6, literal3
        bany a4, a1, at7
        nsau a11, a6
        nsau a4, a4
at7:
        ssr a5
        sll a12, a8
        src a2, a12, a13
        movi a10, 14
        call8 function0
        movi a15, 1
        slli a15, a15, 14
        nsau a7, a0
        movi a11, 9
        wsr.sar a11
        srl a7, a10
        s16i a11, a15, 104
        movi a8, 7
        rems a4, a3, a8
        min a10, a12, a10
        add a5, a12, a2
        movi a6, 6
        call4 function0
        movi a15, 1
        slli a15, a15, 14
        srli a2, a10, 15
        movltz a3, a10, a3
        addx8 a4, a6, a7
        movi a4, 0
        loopgtz a4, at8
        s8i a7, a15, 35
        movi a7, 0
        loopnez a7, at10
        movi a6, 1947
        mull a3, a10, a13
        bge a11, a10, at10
at10:
        neg a12, a10
at11:
        l16si a4, a15, 24
        bany a8, a11, at8
at8:
        movi a9, -5
        quou a10, a11, a9
at9:
        subx4 a3, a0, a9
        movi a6, 9
        call4 function1
        movi a15, 1
        slli a15, a15, 14
        s32i.n a3, a15, 36
        nsa a12, a12
        blti a4, 8, at12
        l32i.n a6, a15, 24
at12:
        clamps a7, a4, 17
        xor a6, a13, a3
        l32i.n a4, a15, 36
        l32r a3, literal0
        movi.n a0, 76
        l32r a0, literal0
        extui a8, a3, 10, 6
        addx4 a9, a10, a3
        min a11, a7, a2
        min a13, a6, a6
        movi a10, 14
        call8 function1
        movi a15, 1
        slli a15, a15, 14
        beqi a3, 6, at13
        movltz a5, a2, a10
at13:
        l32r a11, literal2

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

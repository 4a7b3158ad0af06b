; cpu: dc233c
; seed: 1002
; steps: 388
; states: 10046bb1c9af740be7376d9fe1a419e1a9c3e9977725005b7d9d1cee103c7035
        j start
        .align 4
literal0: .word 0x855cdff8
literal1: .word 0x100
literal2: .word 0x7be4a807
literal3: .word 0xb51024e2
address0: .word function0
        .align 4
function0:
        entry a1, 48
        l32r a3, address0
        beqz.n a2, at1
        addi a6, a2, -1
        callx4 a3
        add a2, a2, a6
        xor a4, a2, a6
at1:
        addx2 a2, a2, a5
        retw.n
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
        l32r a2, literal3
        l32r a3, literal0
        movi a3, -1318
        l32r a4, literal0
        movi a4, -780
        l32r a5, literal3
        movi a5, 2011
        l32r a6, literal0
        l32r a7, literal1
        l32r a8, literal0
        movi a8, 1450
        l32r a9, literal0
        movi a9, 1987
        l32r a10, literal2
        l32r a11, literal0
        movi a11, -1145
        l32r a12, literal0
        movi a12, -99
        l32r a13, literal0
        movi a13, -1642
        l32r a14, literal1
        movi a14, 627
        srli a7, a8, 0
        l32i.n a6, a15, 4
        movi a11, 1
        loop a11, at2
        s32i.n a10, a15, 56
        movi a12, 91
        movgez a0, a10, a9
        s32i a9, a15, 20
at2:
        addx4 a6, a6, a4
at3:
        srli a0, a9, 13
        movi a6, 0
        call4 function0
        movi a15, 1
        slli a15, a15, 14
        movi a6, -1
        loopgtz a6, at4
        l32i.n a4, a15, 12
        clamps a7, a1, 14
        bbsi a2, 1, at4
at4:
        rsr.lend a12
at5:
        nop.n
        rur.threadptr a5
        movi a6, 1
        call4 function0
        movi a15, 1
        slli a15, a15, 14
        abs a9, a9
        extui a5, a1, 13, 13
        maxu a10, a2, a1
        subx2 a5, a0, a12
        abs a9, a12
        clamps a7, a9, 15
        or a2, a11, a0
        subx2 a8, a5, a0
        addmi a4, a1, -32512
        moveqz a9, a2, a13
        add a13, a11, a2
        s32i.n a9, a15, 0
        movi a3, 1772
        movnez a8, a1, a8
        l8ui a6, a15, 19
        max a12, a3, a4
        slli a2, a12, 20
        subx2 a4, a4, a13
        subx2 a4, a7, a7
        l32i.n a9, a15, 28
        add.n a4, a11, a8
        call0 leaf
        clamps a8, a10, 16
        maxu a7, a6, a4
        movi a0, 2047
        quou a11, a2, a0
        extui a3, a11, 8, 14
        call0 leaf
        wur.threadptr a10
        or a13, a12, a9
        l32i.n a5, a15, 16
        mul16s a5, a2, a9
        movi a12, -1
        rems a11, a3, a12
        s16i a12, a15, 74
        moveqz a0, a8, a6

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

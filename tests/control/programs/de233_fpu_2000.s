; cpu: de233_fpu
; seed: 2000
; steps: 837
; states: f809de7479eafacc2201cd422b4913dcb6622d3b50a9bbaf4591c287c2bd16fe
        j start
        .align 4
literal0: .word 0x8
literal1: .word 0xf2933bf7
literal2: .word 0x100
literal3: .word 0x200
address0: .word function0
address1: .word function1
        .align 4
function0:
        entry a1, 48
        l32r a3, address0
        beqz.n a2, at1
        addi a14, a2, -1
        call12 function1
        add a2, a2, a14
        xor a7, a2, a13
at1:
        addx2 a2, a2, a5
        retw
        .align 4
function1:
        entry a1, 80
        l32r a3, address1
        beqz.n a2, at2
        addi a6, a2, -1
        call4 function0
        add a2, a2, a6
        xor a3, a2, a11
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
        l32r a2, literal2
        movi a2, -1616
        l32r a3, literal2
        l32r a4, literal1
        movi a4, -1695
        l32r a5, literal0
        movi a5, 410
        l32r a6, literal0
        l32r a7, literal0
        movi a7, 1346
        l32r a8, literal1
        movi a8, -1951
        l32r a9, literal0
        movi a9, -841
        l32r a10, literal1
        movi a10, -49
        l32r a11, literal0
        l32r a12, literal1
        l32r a13, literal1
        l32r a14, literal3
        movi a14, 663
        movi a14, 3
at3:
        xsr.scompare1 a13
        mul16u a12, a9, a8
        addi a14, a14, -1
        bnez a14, at3
        mov.n a0, a9
        extui a3, a13, 10, 8
        movi a14, 9
        call12 function1
        movi a15, 1
        slli a15, a15, 14
        andbc b2, b6, b10
        movltz a7, a6, a10
        subx4 a3, a5, a12
        l8ui a4, a15, 114
        moveqz a7, a5, a1
        clamps a2, a10, 7
        memw
        all8 b9, b8
        mull a4, a0, a1
        movf a12, a13, b14
        addx2 a2, a0, a1
        movi a7, -5
        rems a12, a1, a7
        movi a5, 7
        quos a9, a1, a5
        beqz a8, at4
        xor a4, a4, a3
at4:
        mov.n a6, a0
        sext a6, a13, 20
        addi a12, a12, 45
        abs a3, a10
        nsa a4, a0
        movi a14, 9
        call12 function1
        movi a15, 1
        slli a15, a15, 14
        movi a3, 2
        remu a3, a2, a3
        min a12, a13, a12

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

; cpu: dc233c
; seed: 1001
; steps: 595
; states: 0799e9cb1c250fee342965281c99537bf26078674e5b9fa7feb2c5e513d67845
        j start
        .align 4
literal0: .word 0xcbf15150
literal1: .word 0x20
literal2: .word 0x400
literal3: .word 0x800000
address0: .word function0
address1: .word function1
address2: .word function2
        .align 4
function0:
        entry a1, 48
        l32r a3, address2
        beqz.n a2, at1
        addi a6, a2, -1
        call4 function2
        add a2, a2, a6
        xor a6, a2, a13
at1:
        addx2 a2, a2, a7
        retw
        .align 4
function1:
        entry a1, 48
        l32r a3, address2
        beqz a2, at2
        addi a14, a2, -1
        call12 function2
        add a2, a2, a14
        xor a6, a2, a12
at2:
        addx2 a2, a2, a3
        retw
        .align 4
function2:
        entry a1, 80
        l32r a3, address2
        blti a2, 1, at3
        addi a10, a2, -1
        call8 function1
        add a2, a2, a10
        xor a3, a2, a6
at3:
        addx2 a2, a2, a4
        retw
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
        l32r a2, literal0
        movi a2, -1272
        l32r a3, literal1
        movi a3, 715
        l32r a4, literal1
        l32r a5, literal1
        l32r a6, literal1
        l32r a7, literal0
        movi a7, -556
        l32r a8, literal0
        l32r a9, literal1
        movi a9, -1318
        l32r a10, literal1
        l32r a11, literal2
        movi a11, 1655
        l32r a12, literal0
        l32r a13, literal1
        movi a13, 1842
        l32r a14, literal2
        movi a14, -1259
        beqi a1, 16, at4
        rur.threadptr a13
        rsr.windowstart a4
at4:
        ssa8l a1
        sll a2, a1
        srl a2, a13
        addi a9, a7, 78
        mul16u a12, a11, a3
        s32i.n a4, a15, 52
        mull a7, a2, a2
        j at5
        maxu a11, a8, a9
at5:
        s32i a3, a15, 120
        j at6
        maxu a2, a9, a13
        dsync
at6:
        mul16u a5, a9, a6
        call0 leaf
        bbsi a7, 7, at7
        nop.n
at7:
        add a8, a10, a1
        subx2 a0, a8, a11
        movi a6, 9
        call4 function0
        movi a15, 1
        slli a15, a15, 14

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

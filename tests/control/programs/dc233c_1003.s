; cpu: dc233c
; seed: 1003
; steps: 448
; states: 516c2269c3a9b9d27ea19f2ffb8a53f68ecfebea4b1ffa559fb5d1b3b28a51a5
        j start
        .align 4
literal0: .word 0x7f51c46e
literal1: .word 0x20000000
literal2: .word 0x20000000
literal3: .word 0x6a310a8
address0: .word function0
address1: .word function1
        .align 4
function0:
        entry a1, 64
        l32r a3, address1
        beqz.n a2, at1
        addi a14, a2, -1
        call12 function1
        add a2, a2, a14
        xor a7, a2, a13
at1:
        addx2 a2, a2, a7
        retw
        .align 4
function1:
        entry a1, 64
        l32r a3, address0
        beqz.n a2, at2
        addi a14, a2, -1
        call12 function0
        add a2, a2, a14
        xor a7, a2, a10
at2:
        addx2 a2, a2, a2
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
        l32r a2, literal2
        movi a2, -78
        l32r a3, literal3
        movi a3, 1264
        l32r a4, literal1
        l32r a5, literal2
        movi a5, -433
        l32r a6, literal1
        l32r a7, literal3
        l32r a8, literal1
        l32r a9, literal1
        l32r a10, literal2
        movi a10, 1071
        l32r a11, literal1
        l32r a12, literal3
        l32r a13, literal1
        l32r a14, literal3
        movi a14, -417
        esync
        movnez a0, a11, a8
        s32ri a12, a15, 40
        addx8 a13, a7, a9
        s32ri a2, a15, 104
        slli a10, a5, 30
        wur.threadptr a0
        l32i.n a11, a15, 8
        movltz a13, a8, a1
        nsau a2, a6
        movi a10, 1
        call8 function1
        movi a15, 1
        slli a15, a15, 14
        movi a8, 2
        loop a8, at3
        l8ui a2, a15, 40
        l32r a0, literal0
        s8i a3, a15, 19
        s8i a2, a15, 33
at3:
        xor a7, a9, a12
at4:
        movi a4, 7
        remu a11, a5, a4
        ill
        movi a10, 3
        call8 function1
        movi a15, 1
        slli a15, a15, 14
        extw
        or a7, a5, a1
        maxu a6, a5, a6
        movgez a2, a13, a6
        movi a9, 2047
        remu a7, a7, a9
        movgez a8, a13, a0
        ssr a8
        sll a3, a10
        sra a3, a9

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

; cpu: de233_fpu
; seed: 2001
; steps: 728
; states: 1f4436fbbce81e22cd306a87d5b1d7866fb1c4e991ae3228189437becc416c06
        j start
        .align 4
literal0: .word 0x2
literal1: .word 0xcdb30706
literal2: .word 0xa6b145c1
literal3: .word 0x8
address0: .word function0
address1: .word function1
        .align 4
function0:
        entry a1, 48
        l32r a3, address1
        beqz a2, at1
        addi a6, a2, -1
        callx4 a3
        add a2, a2, a6
        xor a6, a2, a9
at1:
        addx2 a2, a2, a7
        retw.n
        .align 4
function1:
        entry a1, 48
        l32r a3, address1
        blti a2, 1, at2
        addi a10, a2, -1
        callx8 a3
        add a2, a2, a10
        xor a5, a2, a12
at2:
        addx2 a2, a2, a7
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
        l32r a2, literal3
        movi a2, 1841
        l32r a3, literal1
        l32r a4, literal1
        l32r a5, literal1
        movi a5, -927
        l32r a6, literal2
        l32r a7, literal3
        l32r a8, literal2
        l32r a9, literal0
        movi a9, 660
        l32r a10, literal1
        l32r a11, literal2
        l32r a12, literal3
        l32r a13, literal2
        movi a13, 2009
        l32r a14, literal0
        bbsi a2, 5, at3
        min a11, a13, a3
        s8i a13, a15, 97
at3:
        subx4 a4, a9, a10
        dsync
        l16ui a6, a15, 112
        movi a4, 3
        loopnez a4, at4
        movi.n a9, -13
        movi a2, -1826
        blt a6, a7, at4
at4:
        addx8 a2, a7, a11
at5:
        max a9, a10, a0
        clamps a10, a7, 17
        min a12, a6, a12
        minu a2, a7, a11
        bgeui a3, 65536, at6
        l8ui a13, a15, 95
        min a12, a11, a4
at6:
        addi.n a10, a13, 4
        wsr.misc0 a10
        ssa8b a2
        sll a12, a4
        srl a10, a12
        xor a2, a12, a13
        movi a5, 2047
        quos a7, a13, a5
        movi a13, 46
        wsr.sar a13
        src a5, a11, a0
        nsau a9, a4
        addx2 a2, a6, a4
        l32r a8, literal3
        extui a2, a1, 1, 1
        bgez a12, at7
        srai a12, a13, 5
at7:
        addx8 a7, a1, a2
        movi a10, 14
        call8 function0
        movi a15, 1
        slli a15, a15, 14
        bne a2, a8, at8
        nop
at8:
        rsr.lcount a7
        bt b4, at9
        srli a7, a13, 4
at9:
        addi.n a8, a0, 8
        rur.threadptr a12

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

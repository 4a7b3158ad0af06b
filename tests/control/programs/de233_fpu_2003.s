; cpu: de233_fpu
; seed: 2003
; steps: 364
; states: 267253b829b3122146a11cc157b865cd70e17ccbeb6ce404703d7c0cda4067cf
        j start
        .align 4
literal0: .word 0x4000
literal1: .word 0x4e8cda9d
literal2: .word 0x400
literal3: .word 0x10
address0: .word function0
address1: .word function1
        .align 4
function0:
        entry a1, 80
        l32r a3, address1
        blti a2, 1, at1
        addi a14, a2, -1
        callx12 a3
        add a2, a2, a14
        xor a3, a2, a2
at1:
        addx2 a2, a2, a4
        retw.n
        .align 4
function1:
        entry a1, 64
        l32r a3, address0
        beqz.n a2, at2
        addi a14, a2, -1
        callx12 a3
        add a2, a2, a14
        xor a5, a2, a8
at2:
        addx2 a2, a2, a6
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
        movi a2, -1691
        l32r a3, literal0
        l32r a4, literal0
        l32r a5, literal1
        movi a5, -1927
        l32r a6, literal1
        l32r a7, literal2
        movi a7, -1501
        l32r a8, literal0
        l32r a9, literal3
        l32r a10, literal0
        movi a10, 1851
        l32r a11, literal2
        l32r a12, literal0
        movi a12, -1667
        l32r a13, literal0
        l32r a14, literal0
        movi a14, 1135
        addmi a10, a13, -30720
        movi a7, 1080
        rsil a6, 4
        bltui a4, 3, at3
        movf a8, a0, b9
        ssr a3
        sll a9, a2
        sra a10, a12
at3:
        neg a10, a2
        extui a3, a7, 9, 15
        movltz a5, a9, a13
        xorb b14, b0, b4
        s8i a5, a15, 41
        memw
        movi a5, 2
        loop a5, at4
        add a4, a3, a3
        esync
        movi a9, -1
        rems a2, a3, a9
        bt b9, at4
at4:
        minu a7, a5, a10
at5:
        movi a9, -283
        mul16s a9, a8, a10
        moveqz a5, a4, a12
        neg a10, a2
        orb b15, b0, b15
        subx4 a13, a13, a13
        rsil a8, 1
        movnez a6, a3, a7
        bf b1, at6
        l32i a2, a15, 56
at6:
        sext a5, a1, 8
        saltu a7, a10, a4
        xorb b7, b12, b10
        abs a13, a1
        andb b5, b6, b5
        bltz a3, at7
        any8 b0, b0
        subx8 a6, a7, a4
at7:
        addmi a9, a1, -3840
        movi a4, 2
        loop a4, at8
        movi a3, 44
        wsr.sar a3
        src a6, a12, a5
        add a12, a2, a11
        movi a13, 2047
        quos a10, a1, a13
at8:
        xor a6, a3, a3
at9:
        min a2, a8, a6

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

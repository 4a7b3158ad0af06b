; Binary search in a sorted table: a2 = position of the key in a3, or -1.

        movi    a3, 57              ; the key
        movi    a4, table
        movi    a5, 0               ; low
        movi    a6, 12              ; high, one beyond the last
        movi    a2, -1
again:
        bgeu    a5, a6, done
        add     a7, a5, a6
        srli    a7, a7, 1           ; middle
        addx4   a8, a7, a4
        l32i    a8, a8, 0
        beq     a8, a3, found
        bltu    a8, a3, above
        mov     a6, a7              ; it lies below the middle
        j       again
above:
        addi    a5, a7, 1
        j       again
found:
        mov     a2, a7
done:
        halt    0

        .align  4
table:
        .word   2, 3, 5, 11, 17, 23, 31, 41, 57, 73, 97, 127

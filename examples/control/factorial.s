; 10! by recursion, through register windows: every call has eight registers of its own.
; Eleven calls are more than the eight frames hold, so the outer ones go to memory and come back.

        movi    a10, 10
        call8   factorial
        mov     a2, a10             ; 3628800 = 0x375f00
        halt    0

        .align  4
factorial:                          ; a2 = n, gives n! in a2
        entry   a1, 32
        blti    a2, 2, one
        addi    a10, a2, -1
        call8   factorial
        mull    a2, a2, a10
        retw.n
one:
        movi    a2, 1
        retw.n

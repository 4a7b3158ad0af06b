; memcpy with zero-overhead loops: whole words first, then the bytes that remain.

        movi    a2, destination
        movi    a3, source
        movi    a4, end - source
        call0   memcpy
        halt    0

        .align  4
memcpy:                             ; a2 = to, a3 = from, a4 = bytes; both addresses are multiples of 4
        mov     a5, a2
        srli    a6, a4, 2
        loopnez a6, words_done
        l32i    a7, a3, 0
        addi    a3, a3, 4
        s32i    a7, a5, 0
        addi    a5, a5, 4
words_done:
        extui   a6, a4, 0, 2
        loopnez a6, bytes_done
        l8ui    a7, a3, 0
        addi    a3, a3, 1
        s8i     a7, a5, 0
        addi    a5, a5, 1
bytes_done:
        ret

        .align  4
source:
        .ascii  "zero-overhead loops"
end:
        .align  4
destination:
        .space  32

; Masked maximum: what a softmax under an attention mask needs first.
;
; scores holds 128 queries (one a partition) by 128 keys. mask is 1 where a query may look at a key. kept arrives
; filled with -infinity; scores are copied into it where the mask is 1. best gets the largest kept score of each
; query. The keys come in four tiles of 32, chained through the accumulator of each lane.
;
;     gpsimd run program.tpb -i . -o out

;       name   region partition offset dtype shape   direction
.tensor mask   sbuf   0         0x0000 uint8 128x128 in
.tensor scores sbuf   0         0x1000 fp32  128x128 in
.tensor kept   sbuf   0         0x2000 fp32  128x128 inout
.tensor best   sbuf   0         0x3000 fp32  128x1   out

; The first tile seeds the accumulator, the others go on from it.
select_reduce src0={addr=@mask,    num=[32]}, src1={addr=@scores,     num=[32]}, dst={addr=@kept,     num=[32]}, src0_dtype=uint8, src1_dtype=fp32, out_dtype=fp32, num_active_channels=128, accumulator_cmd=ZERO_ACCUMULATE
select_reduce src0={addr=@mask+32, num=[32]}, src1={addr=@scores+128, num=[32]}, dst={addr=@kept+128, num=[32]}, src0_dtype=uint8, src1_dtype=fp32, out_dtype=fp32, num_active_channels=128, accumulator_cmd=ACCUMULATE
select_reduce src0={addr=@mask+64, num=[32]}, src1={addr=@scores+256, num=[32]}, dst={addr=@kept+256, num=[32]}, src0_dtype=uint8, src1_dtype=fp32, out_dtype=fp32, num_active_channels=128, accumulator_cmd=ACCUMULATE
select_reduce src0={addr=@mask+96, num=[32]}, src1={addr=@scores+384, num=[32]}, dst={addr=@kept+384, num=[32]}, src0_dtype=uint8, src1_dtype=fp32, out_dtype=fp32, num_active_channels=128, accumulator_cmd=ACCUMULATE

dve_read_accumulator dst=@best

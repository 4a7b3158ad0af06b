; Ways to say where an operand lies: by name, by register, and by a pattern of two dimensions.
;
; x is 32 rows of an 8 by 16 tile. The first instruction walks it column by column, so that turned gets the tile
; transposed; the second takes both addresses from registers. With mask all ones, best is the largest of each row.

.tensor mask   sbuf 32 0x0000 uint8 32x128  in
.tensor x      sbuf 32 0x0400 fp32  32x8x16 in
.tensor turned sbuf 32 0x0800 fp32  32x16x8 out
.tensor copied sbuf 32 0x0c00 fp32  32x8x16 out
.tensor best   sbuf 32 0x1000 fp32  32x1    out

.reg r1 = @x
.reg r2 = @copied

select_reduce src0=@mask, src1={addr=@x, step=[16, 1], num=[8, 16]}, dst=@turned, src1_dtype=fp32, accumulator_cmd=ZERO_ACCUMULATE
select_reduce src0=@mask, src1={addr=r1, num=[128]}, dst={addr=r2, num=[128]}, src1_dtype=fp32, out_dtype=fp32, accumulator_cmd=ACCUMULATE

dve_read_accumulator dst=@best

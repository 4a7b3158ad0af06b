; The eight largest scores of each row among those that the mask lets through, with their places. Every generation.

.tensor mask   sbuf 0 0x0000 uint8  128x64 in
.tensor scores sbuf 0 0x0100 fp32   128x64 in
.tensor kept   sbuf 0 0x1000 fp32   128x64 temp
.tensor best   sbuf 0 0x2000 fp32   128x8  out
.tensor places sbuf 0 0x2100 uint32 128x8  out

memset dst=@kept, set_value=0xff800000                            ; -infinity
copy_predicated src0=@mask, src1=@scores, dst=@kept
max8 src=@kept, dst=@best
match_value_load src=@best
find_index8 src=@kept, dst=@places

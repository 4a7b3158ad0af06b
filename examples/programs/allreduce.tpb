; The sum of x over all 128 partitions, on every partition: folded into the first lane of each quadrant, then shuffled to
; the other 31. Every generation.

.tensor x      sbuf 0  0x0000 fp32 128x64 in
.tensor folded sbuf 0  0x1000 fp32 128x64 temp
.tensor first  sbuf 0  0x1000 fp32 1x64   temp
.tensor second sbuf 32 0x1000 fp32 1x64   temp
.tensor third  sbuf 64 0x1000 fp32 1x64   temp
.tensor fourth sbuf 96 0x1000 fp32 1x64   temp
.tensor total  sbuf 0  0x2000 fp32 128x64 out

cross_lane_reduce_arith src=@x, dst=@first,  reduce_op=ADD, reduce_axis=PARTITIONS
cross_lane_reduce_arith src=@x, dst=@second, reduce_op=ADD, reduce_axis=PARTITIONS
cross_lane_reduce_arith src=@x, dst=@third,  reduce_op=ADD, reduce_axis=PARTITIONS
cross_lane_reduce_arith src=@x, dst=@fourth, reduce_op=ADD, reduce_axis=PARTITIONS
load_mask_select                                                  ; every lane takes lane 0 of its quadrant
stream_shuffle src=@folded, dst=@total

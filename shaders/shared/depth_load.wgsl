// Depth k + U of the stage that starts at vec4 part: what an invocation multiplies.
//@ for j in 0..TN4
            let b${U}_${j} = stage[part + (k + ${U}u) * ${BN4}u + ${B_AT + j * TX}u + lane_x];
//@ end
            let turn${U} = 2u * (k / 4u + ${U / 4}u);
//@ for i in 0..TM4
            let a${U}_${i} =
                stage[part + (k + ${U}u) * ${BM4}u + ((lane_y * ${TM4}u + ${i}u) ^ turn${U})];
//@ end

// Depth k + U of the stage of Gram sums that starts at vec4 part: what an invocation multiplies.
//@ for j in 0..TN4
                let b${U}_${j} = b_tile[part + (k + ${U}u) * ${T4}u + ${j * TX}u + lane_x];
//@ end
//@ for i in 0..TM4
                let a${U}_${i} = a_tile[part + (k + ${U}u) * ${T4}u + lane_y * ${TM4}u + ${i}u];
//@ end

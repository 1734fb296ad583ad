    // Where an invocation stands in the tile. LANES48: 32 neighbours, which most GPUs run together,
    // are 4 rows of 8 where they would be 2 of 16: they ask workgroup memory for fewer places.
//@ if LANES48
    let ordinal = local.y * ${TX}u + local.x;
    let lane_x = ordinal / 32u % ${TX / 8}u * 8u + ordinal % 8u;
    let lane_y = ordinal / ${4 * TX}u * 4u + ordinal / 8u % 4u;
//@ else
    let lane_x = local.x;
    let lane_y = local.y;
//@ end

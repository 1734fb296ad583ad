    // Which tile a workgroup has. BAND: neighbours, which run at about the same time, are BAND rows
    // of tiles high where they would be one row: together they read less of both operands.
//@ if BAND
    let number = group.y * groups.x + group.x;
    let band = number / (${BAND}u * groups.x);
    let within = number - band * ${BAND}u * groups.x;
    let tall = min(${BAND}u, groups.y - band * ${BAND}u);
    let tile_x = within / tall;
    let tile_y = band * ${BAND}u + within % tall;
//@ else
    let tile_x = group.x;
    let tile_y = group.y;
//@ end

bochner fit data/digits.csv --target label --task regression --calibrate 0.2 -o model.bochner
bochner predict model.bochner data/digits.csv --interval 0.9 -o intervals.csv

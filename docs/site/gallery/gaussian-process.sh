bochner fit data/digits.csv --target label --task regression --model gaussian-process --test 0.2

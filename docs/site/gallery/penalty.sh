bochner fit data/digits.csv --target label --lambda auto --test 0.2

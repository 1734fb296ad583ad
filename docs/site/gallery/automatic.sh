bochner fit data/digits.csv --target label --auto --test 0.2 -o digits.model

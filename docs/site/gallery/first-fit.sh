bochner fit data/digits.csv --target label --test 0.2 -o digits.model
bochner predict digits.model data/digits.csv -o predicted.csv

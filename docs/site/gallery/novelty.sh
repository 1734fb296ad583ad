bochner fit data/digits.csv --target label --model one-class -o seen.model
bochner predict seen.model data/digits.csv -o novel.csv

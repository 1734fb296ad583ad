bochner fit data/digits.csv --target label --model falkon --landmarks 400 --test 0.2

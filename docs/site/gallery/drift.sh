bochner drift data/digits.csv data/digits.csv

bochner fit data/digits.csv --ignore label --model spectral-clustering --clusters 10 -o clusters.model

import matplotlib.pyplot as plt
from bochner import OneClassSVM
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
sixes, others = X[y == 6], X[y != 6]
model = OneClassSVM(nu=0.1, gamma=0.0003, random_state=0).fit(sixes[:120])
new, odd = model.decision_function(sixes[120:]), model.decision_function(others)
print(f"of new sixes {(new < 0).mean():.2f} are told as novel, of other digits {(odd < 0).mean():.2f}")

plt.hist([new, odd], bins=40, density=True, label=["sixes", "others"])
plt.legend()
plt.show()

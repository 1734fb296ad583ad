import matplotlib.pyplot as plt
from bochner import ExactKernelRidgeClassifier, FalkonClassifier
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
exact = 1 - ExactKernelRidgeClassifier().fit(X, y).score(X_test, y_test)
counts = [25, 50, 100, 200, 400, 800]
wrong = []
for count in counts:
    model = FalkonClassifier(n_components=count, random_state=0).fit(X, y)
    wrong.append(1 - model.score(X_test, y_test))
print(f"exact {exact:.3f}, Falkon with 800 landmarks {wrong[-1]:.3f}")

plt.plot(counts, wrong, "o-")
plt.axhline(exact, color="0.5", linestyle="--")
plt.xscale("log")
plt.xticks(counts, counts)
plt.minorticks_off()
plt.xlabel("landmarks")
plt.ylabel("wrong labels")
plt.show()

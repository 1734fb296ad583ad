//! `fit --model` of kernel machines and of fits that grow.

use crate::{bochner, digits};
use tempfile::TempDir;

#[test]
fn they_fit_save_and_score_the_digits() {
    let here = TempDir::new().expect("a temporary directory");
    let here = here.path();
    let digits = digits();
    let fit =
        format!("fit {digits} --target label --gamma scale --test 0.5 --device cpu -q --json -o m");
    for (options, solver, least) in [
        ("--model kernel-ridge", "cholesky", 0.97),
        ("--model kernel-ridge --lambda 0", "cholesky", 0.97),
        ("--model kernel-ridge --probabilities", "cholesky", 0.97),
        ("--model falkon --landmarks 300", "preconditioned cg", 0.95),
        (
            "--model falkon --landmarks 200 --landmarks-choice k-means --lambda 1e-4",
            "preconditioned cg",
            0.93,
        ),
        ("--model greedy --features 400 --steps 100", "greedy", 0.85),
        ("--model boosting --features 400", "boosting", 0.93),
        ("--model ridge --features 2000 --lambda 1e-6", "dual", 0.96),
        ("--model ridge --features 2000 --lambda 0", "dual", 0.96),
        (
            "--model ridge --features 2000 --solver cholesky",
            "cholesky",
            0.96,
        ),
        ("--model ridge --features 200", "eigen", 0.9),
        (
            "--model ridge --features 200 --lambda 1e-6",
            "cholesky",
            0.9,
        ),
    ] {
        let fitted = bochner(here, &format!("{fit} {options}"), &[]).json();
        let accuracy = fitted["accuracy"].as_f64().expect("an accuracy");
        assert!(accuracy > least, "{options}: {fitted}");
        assert_eq!(fitted["solver"], solver, "{options}: {fitted}");
        let evaluate = format!("evaluate m {digits} --target label --device cpu -q --json");
        let evaluated = bochner(here, &evaluate, &[]).json();
        assert!(evaluated["accuracy"].as_f64().expect("an accuracy") >= accuracy - 0.01);
    }
    // 900 rows squared are 6.5 MB.
    bochner(
        here,
        &format!("{fit} --model kernel-ridge --memory 4M"),
        &[],
    )
    .fails(&["kernel matrix", "--memory", "Falkon"]);
    bochner(here, &format!("{fit} --features 100 --lambda 0"), &[])
        .fails(&["lambda is 0", "--lambda"]);
}

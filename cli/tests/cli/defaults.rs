//! What `fit` does of few rows with much noise where nothing but the data is given.

use crate::{bochner, here, number};

/// Ten columns that go together, and a target of which they tell about half.
fn noisy(rows: usize) -> String {
    let header = "a,b,c,d,e,f,g,h,i,j,y\n".to_owned();
    // Uniform numbers from -1 to 1 by the golden ratio of a place, turned around.
    let draw = |i: usize, j: usize| {
        let at = ((i * 12 + j + 1) as f64 * 12.9898).sin() * 43758.5453;
        2.0 * (at - at.floor()) - 1.0
    };
    (0..rows).fold(header, |text, i| {
        let x = Vec::from_iter((0..10).map(|j| draw(i, j) + draw(i, 10)));
        let y = x[0] - x[3] + 0.7 * x[5] + 1.8 * draw(i, 11);
        let x = x.iter().map(|x| format!("{x},")).collect::<String>();
        format!("{text}{x}{y}\n")
    })
}

#[test]
fn kernel_machines_and_the_lasso_choose_their_penalty() {
    let here = here();
    std::fs::write(here.path().join("t.csv"), noisy(400)).expect("writes");
    let run = |options: &str| {
        // A bandwidth that follows the noise unless a penalty holds it.
        let fit = "fit t.csv --target y --test 0.4 --gamma scale --device cpu --json";
        let fit = format!("{fit} {options}");
        bochner(here.path(), &fit, &[]).ok()
    };
    let rmse = |options: &str| number(&run(options).json(), "rmse");
    let ridge = rmse("--features 1000");
    for model in ["kernel-ridge", "falkon", "lasso"] {
        let own = run(&format!("--model {model}"));
        assert!(
            !own.stderr.contains("worse than the mean"),
            "{}",
            own.stderr
        );
        let own = own.json();
        let given = match model {
            "lasso" => "--l1 1e-4 --iterations 2000",
            _ => "--lambda 1e-6",
        };
        let given = rmse(&format!("--model {model} {given}"));
        assert!(number(&own, "rmse") < 0.85 * given, "{own} {given}");
        assert!(number(&own, "rmse") < 1.1 * ridge, "{own} {ridge}");
        if model != "lasso" {
            assert_eq!(own["lambda_by"], "leave-one-out");
            let lambda = number(&own, "lambda");
            let same = run(&format!("--model {model} --lambda {lambda}")).json();
            assert_eq!(same["rmse"], own["rmse"], "{model}");
            let solver = if model == "falkon" {
                "preconditioned cg"
            } else {
                "cholesky"
            };
            assert_eq!(own["solver"], solver);
        }
    }
}

/// The usual thousand landmarks are all rows of a small table; a number that is given is kept to.
#[test]
fn landmarks_are_no_more_than_rows() {
    let here = here();
    std::fs::write(here.path().join("t.csv"), noisy(60)).expect("writes");
    let fit = "fit t.csv --target y --map nystrom --sigma 1 --device cpu";
    let run = bochner(here.path(), &format!("{fit} -v"), &[]).ok();
    assert!(run.stdout.contains("columns to 60"), "{run:?}");
    // Nobody asked what adapters there are.
    assert!(!run.stderr.contains("adapter"), "{run:?}");
    let more = format!("{fit} --features 61 -q");
    bochner(here.path(), &more, &[]).fails(&["61 landmarks cannot be chosen among 60 rows"]);
}

#[test]
fn what_is_worse_than_the_mean_is_noted() {
    let here = here();
    std::fs::write(here.path().join("t.csv"), noisy(300)).expect("writes");
    let run = |options: &str| {
        let fit = format!("fit t.csv --target y --gamma scale --device cpu {options}");
        bochner(here.path(), &fit, &[]).ok().stderr
    };
    for model in ["ridge --features 300", "kernel-ridge", "falkon"] {
        // All penalties that may be chosen are too small.
        let said = run(&format!("--model {model} --lambda 1e-7,1e-6"));
        let line = said
            .lines()
            .find(|line| line.contains("worse than the mean"));
        let line = line.unwrap_or_default();
        let rows = "on rows of the fit, left out to choose the penalty: ";
        assert!(line.contains("R2 -") && line.contains(rows), "{said}");
        let said = run(&format!("--model {model}"));
        assert!(!said.contains("worse"), "{said}");
    }
    // A penalty that is given says nothing by itself; rows held out do, in a fit and later.
    let small = "--model kernel-ridge --lambda 1e-8";
    assert!(!run(small).contains("worse"));
    let worse = "on the test rows: worse than the mean of their targets";
    let said = run(&format!("{small} --test 0.4 -o m"));
    assert!(said.contains(worse) && said.contains("--lambda"), "{said}");
    let rows = noisy(400)
        .lines()
        .skip(301)
        .fold(noisy(0), |text, row| text + row + "\n");
    std::fs::write(here.path().join("new.csv"), rows).expect("writes");
    let evaluate = "evaluate m new.csv --target y --device cpu";
    let said = bochner(here.path(), evaluate, &[]).ok().stderr;
    assert!(said.contains("on the rows scored: worse than"), "{said}");
    assert!(!run("--model kernel-ridge --test 0.4").contains(worse));
}

/// Iterations that end early leave a model and a note.
#[test]
fn falkon_keeps_what_it_has() {
    let here = here();
    std::fs::write(here.path().join("t.csv"), noisy(300)).expect("writes");
    let fit = "fit t.csv --target y --model falkon --gamma scale --lambda 1e-8 --iterations 2 --device cpu -o m";
    let run = bochner(here.path(), fit, &[]).ok();
    assert!(run.stderr.contains("after 2 iterations"), "{}", run.stderr);
    assert!(run.stderr.contains("larger lambda"), "{}", run.stderr);
    let show = bochner(here.path(), "show m --json", &[]).ok().json();
    assert!(show.to_string().contains("falkon"), "{show}");
}

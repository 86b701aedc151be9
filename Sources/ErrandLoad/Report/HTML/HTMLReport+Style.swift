extension HTMLReport {
    /// The colours of ``ChartPaint`` again, and others for a dark screen. A scrollable part has a shadow at its right
    /// edge while there is more to see. A printed page is light, whatever the screen is.
    static let style = """
        :root {
          color-scheme: light dark;
          --paper: #fff; --ink: #1a1e22; --soft: #59626b; --rule: #c9ced3; --faint: #e6e9ec; --tile: #f6f7f8; --edge: #b4bbc2;
          --good: #00694b; --bad: #b3261e;
          --c0: #0072b2; --c1: #6b747d; --c2: #cc5200; --c3: #a34482; --c4: #00875f; --c5: #8a6d00;
          --h0: #c2d6e4; --h1: #9dbdd4; --h2: #78a4c4; --h3: #548cb4; --h4: #2f73a4; --h5: #0a5a94;
        }
        @media screen and (prefers-color-scheme: dark) {
          :root {
            --paper: #14171a; --ink: #e6e8ea; --soft: #a3abb3; --rule: #32383e; --faint: #262b30; --tile: #1b1f23; --edge: #565e66;
            --good: #3dbf94; --bad: #ff8a80;
            --c0: #56a8e6; --c1: #98a1aa; --c2: #f07c45; --c3: #d58bbd; --c4: #3dbf94; --c5: #e0c04a;
            --h0: #2e4253; --h1: #3e5c76; --h2: #4d7698; --h3: #5d90ba; --h4: #6caadd; --h5: #7cc4ff;
          }
        }
        body {
          margin: 0 auto; max-width: 66rem; padding: 1.5rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
          font: 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
          font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
        }
        h1 { font-size: 1.75rem; line-height: 1.2; margin: 0.5rem 0; }
        h2 { font-size: 1.125rem; margin: 2rem 0 0.25rem; }
        p { margin: 0.25rem 0 0.75rem; color: var(--soft); }
        .verdict { color: var(--ink); } p.bad { color: var(--bad); }
        .tiles { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 1rem 0; padding: 0; list-style: none; }
        .tiles li { background: var(--tile); border-radius: 0.4rem; padding: 0.5rem 0.9rem; min-width: 7rem; }
        .tiles b { display: block; font-size: 1.25rem; }
        .scroll {
          overflow-x: auto;
          background: linear-gradient(to left, var(--paper) 40%, transparent) right / 2.5rem 100% no-repeat local,
            linear-gradient(to left, var(--edge), transparent) right / 0.6rem calc(100% - 4px) no-repeat scroll;
        }
        .scroll svg { display: block; width: 100%; min-width: 40rem; height: auto; }
        .legend { list-style: none; margin: 0.5rem 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
        .swatch { margin-right: 0.4rem; }
        svg { font-family: inherit; } .tick { fill: var(--soft); font-size: 12px; }
        .grid { stroke: var(--faint); } .axis { stroke: var(--rule); }
        .s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); } .s3 { stroke: var(--c3); }
        .s4 { stroke: var(--c4); } .s5 { stroke: var(--c5); }
        .f1 { fill: var(--c1); } .f2 { fill: var(--c2); } .f3 { fill: var(--c3); } .f4 { fill: var(--c4); }
        .f5 { fill: var(--c5); }
        .h0 { fill: var(--h0); } .h1 { fill: var(--h1); } .h2 { fill: var(--h2); } .h3 { fill: var(--h3); }
        .h4 { fill: var(--h4); } .h5 { fill: var(--h5); } .outside { fill: var(--soft); }
        .tips :hover { fill: var(--ink); fill-opacity: 0.08; }
        figure { margin: 0.75rem 0 1.25rem; font-size: 0.8125rem; }
        figcaption { color: var(--soft); padding-bottom: 0.35rem; }
        table { border-collapse: collapse; }
        th, td { padding: 0.3rem 0 0.3rem 1rem; text-align: right; vertical-align: top; white-space: nowrap; }
        th:first-child {
          position: sticky; left: 0; min-width: 12rem; padding-left: 0; background: var(--paper); text-align: left;
          font-weight: 600; white-space: normal;
        }
        tbody tr { border-top: 1px solid var(--rule); }
        tr.good td:nth-child(2) { color: var(--good); font-weight: 600; }
        tr.bad td:nth-child(2) { color: var(--bad); font-weight: 600; }
        pre { white-space: pre-wrap; font-size: 0.8125rem; }
        @media (max-width: 40rem) {
          body { padding: 1rem 0.75rem 3rem; }
          .tiles li { min-width: 5.5rem; }
          .scroll svg { min-width: 46rem; } .tick { font-size: 14px; }
          th:first-child { min-width: 7.5rem; }
        }
        @media print {
          body { max-width: none; padding: 0; } .tips { display: none; } .scroll { overflow: visible; background: none; }
          .scroll svg { min-width: 0; } h2, figcaption, .legend { break-after: avoid; } .chart, tr, .tiles { break-inside: avoid; }
        }
        """
}

// What all tests in a browser share. The packages come from whoever tests, as each has its own.

/** Browsers by name: how they are found, and how Playwright starts one that it did not bring. */
const BROWSERS = {
  chromium: {
    path: () => process.env.CHROMIUM ?? "/usr/bin/chromium",
    options: { args: ["--no-sandbox", "--disable-gpu", "--force-prefers-reduced-motion"] },
  },
  // Over WebDriver BiDi, which a Firefox as it is published speaks.
  firefox: {
    path: () => process.env.FIREFOX ?? "/usr/bin/firefox-esr",
    options: {
      channel: "moz-firefox",
      firefoxUserPrefs: { "ui.prefersReducedMotion": 1, "browser.download.alwaysOpenPanel": false },
    },
  },
};
export const pathOf = (name) => BROWSERS[name].path();

/** One browser for all tests, started by the first; `playwright` is playwright-core. */
export function browserOf(playwright, name = "chromium") {
  let browser = null;
  return {
    async launch() {
      const { path, options } = BROWSERS[name];
      browser ??= await playwright[name].launch({ executablePath: path(), ...options });
      return browser;
    },
    async close() {
      await browser?.close();
      browser = null;
    },
  };
}

/** Serious faults of accessibility; `axe` is the program of axe-core. */
export async function faultsOfAccess(page, axe) {
  // The page's policy lets no other script in; axe goes in as the test's own.
  await page.evaluate(axe);
  const result = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  return result.violations
    .filter((violation) => ["serious", "critical"].includes(violation.impact))
    .map(
      (violation) =>
        `${violation.id}: ${violation.nodes
          .map((node) => node.html.slice(0, 160))
          .slice(0, 3)
          .join(" | ")}`,
    );
}

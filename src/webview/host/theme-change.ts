/** Calls back with every other theme from now on. VS Code tells of it by an attribute of the page. */
export function onThemeChange(listener: () => void): void {
  new MutationObserver(listener).observe(document.body, {
    attributes: true,
    attributeFilter: ['data-vscode-theme-id'],
  })
}

/** Settings of the window in which the integration tests run. */
export const integrationSettings = {
  // for the tests of what a formatter does to an agent's changes
  '[json]': { 'editor.formatOnSave': true, 'files.insertFinalNewline': true },
  // Where commenting is possible, VS Code opens every document that it loads. In the browser, that includes the user's
  // settings while one is written, whose document then has two URIs with one name in the extension host: it rejects the
  // second, together with all that changed at the same time, and documents may be missing from then on. It would also keep
  // documents open for minutes after their editors were closed.
  'parley.lineComments': false,
}

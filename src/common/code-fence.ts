/** The fence of a block of Markdown code that contains the text: longer than any run of backticks in it. */
export function codeFence(text: string): string {
  let longest = 2
  // a loop, since a text may have more runs than a call of `Math.max` can have arguments
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest + 1)
}

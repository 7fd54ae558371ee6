/**
 * Prepares untrusted text for a message of VS Code, which turns `[text](target)` into links, and links to commands run them. A space
 * between the brackets prevents links. In a separate file because this code is loaded at startup.
 */
export function plainMessage(text: string): string {
  return text.replaceAll('](', '] (')
}

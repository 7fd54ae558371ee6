/** The text of a README without relative images, and without lines that contain only such images. */
export function withoutPictures(markdown: string): string {
  return markdown
    .replace(/^(?:!\[[^\]]*\]\((?!\w+:)[^)]*\)\s*)+$\n*/gm, '')
    .replace(/!\[[^\]]*\]\((?!\w+:)[^)]*\)/g, '')
}

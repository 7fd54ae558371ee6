import { readFileSync, writeFileSync } from 'node:fs'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'

const readme = 'extension/readme.md'

/**
 * VS Code loads the pictures of a packaged README only from the network: `vsce` inserts their URLs if the
 * manifest names a repository. Until then the packaged README has no pictures.
 */
export function dropPictures(vsix: string): void {
  const files = unzipSync(readFileSync(vsix))
  const manifest = JSON.parse(strFromU8(files['extension/package.json']!))
  if (manifest.repository) return
  files[readme] = strToU8(withoutPictures(strFromU8(files[readme]!)))
  writeFileSync(vsix, zipSync(files, { level: 9 }))
}

/** The text without its relative pictures, and without lines that contained only pictures. */
function withoutPictures(markdown: string): string {
  return markdown
    .replace(/^(?:!\[[^\]]*\]\((?!\w+:)[^)]*\)\s*)+$\n*/gm, '')
    .replace(/!\[[^\]]*\]\((?!\w+:)[^)]*\)/g, '')
}

const ICONS: ReadonlyArray<readonly [icon: string, extensions: string]> = [
  ['markdown', 'md mdx markdown'],
  ['json', 'json jsonc json5'],
  ['file-media', 'png jpg jpeg gif webp bmp svg ico avif mp3 wav ogg flac m4a mp4 webm mov'],
  ['file-pdf', 'pdf'],
  ['file-zip', 'zip gz tgz tar bz2 xz 7z jar vsix'],
  ['file-binary', 'exe dll so dylib wasm bin o a class pyc'],
  ['database', 'sql db sqlite'],
  ['terminal', 'sh bash zsh fish ps1 bat cmd'],
  ['settings-gear', 'toml yaml yml ini cfg conf env properties editorconfig'],
  ['ruby', 'rb'],
  ['python', 'py pyi'],
  [
    'file-code',
    'ts tsx mts cts js jsx mjs cjs c h cc cpp cxx hpp cs go rs java kt kts swift php lua r jl scala clj ex exs erl hs ml fs dart vue svelte astro html htm css scss sass less xml xsl graphql proto zig nim',
  ],
]
const byExtension = new Map(
  ICONS.flatMap(([icon, extensions]) => extensions.split(' ').map(extension => [extension, icon] as const)),
)

/** The codicon for a file's name. */
export function fileIcon(name: string): string {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase()
  return (extension !== undefined && byExtension.get(extension)) || 'file'
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  svg: 'image/svg+xml',
  ts: 'text/typescript',
  tsx: 'text/typescript',
  wav: 'audio/wav',
  webp: 'image/webp',
  xml: 'text/xml',
  yaml: 'text/yaml',
  yml: 'text/yaml',
}

/** The media type of a path or URI by its ending; `undefined` when it is not among the common ones. */
export function mimeTypeOf(name: string): string | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(name.replace(/[?#].*$/s, ''))?.[1]?.toLowerCase()
  return extension === undefined ? undefined : TYPES[extension]
}

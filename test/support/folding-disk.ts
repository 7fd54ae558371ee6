import type { Links } from '../../src/editor/path-guard.ts'

/** A disk without links that has these folders and files. `folds`: it ignores the case of names, as on Windows and Mac. */
export function foldingDisk(folders: string[], folds: boolean, separator = '/'): Links {
  const key = (text: string) => {
    const bare = text.length > 3 ? text.replace(/[\\/]+$/, '') : text
    return folds ? bare.toLowerCase() : bare
  }
  const known = new Map<string, string>()
  for (const folder of folders) {
    for (let end = folder.length; end > 0; end = folder.lastIndexOf(separator, end - 1)) {
      known.set(key(folder.slice(0, end)), folder.slice(0, end))
    }
  }
  const fail = (code: string) => Promise.reject(Object.assign(new Error(code), { code }))
  return {
    realpath: async target => known.get(key(target)) ?? fail('ENOENT'),
    readlink: async target => (known.has(key(target)) ? fail('EINVAL') : fail('ENOENT')),
  }
}

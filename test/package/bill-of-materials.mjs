// Lists what is in the bundles, for programs that look for known vulnerabilities: a bill of materials, CycloneDX as JSON.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The bill of materials: without a time, so that the same source has the same.
 *
 * @param {readonly string[]} folders of the packages in the bundles, as the lock file names them
 * @param {string} root the folder of `package.json` and the lock file
 * @param {(name: string, license: unknown) => string} licenseOf the SPDX expression of a package's license
 */
export function billOfMaterials(folders, root, licenseOf) {
  const read = (/** @type {string} */ file) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const { packages } = read('package-lock.json')
  const { name, version, license } = read('package.json')
  const own = `${name}@${version}`

  /** What a package asks for and the bundles contain, maybe by way of a package that is nothing but a list of others. */
  const needs = (/** @type {string} */ folder, /** @type {Set<string>} */ seen = new Set()) => {
    const { dependencies, peerDependencies, optionalDependencies, devDependencies } = packages[folder] ?? {}
    const asked = { ...dependencies, ...peerDependencies, ...optionalDependencies }
    if (!folder)
      // the bundles contain some that are needed for development alone otherwise
      for (const name of Object.keys(devDependencies))
        if (folders.includes(`node_modules/${name}`)) asked[name] = devDependencies[name]
    for (const other of Object.keys(asked).map(name => nearest(packages, folder, name))) {
      if (seen.has(other)) continue
      seen.add(other)
      if (!folders.includes(other)) needs(other, seen)
    }
    return folders.filter(one => seen.has(one))
  }
  return JSON.stringify({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': own, name, version, ...licensed(license) } },
    components: folders.map(folder => {
      const { version, integrity } = packages[folder] ?? {}
      if (!version || !integrity) throw new Error(`${folder} is in a bundle, and not in the lock file.`)
      const name = nameOf(folder)
      const [, group, short] = /^(?:(@[^/]+)\/)?(.*)$/.exec(name)
      return {
        type: 'library',
        'bom-ref': folder,
        ...(group && { group }),
        name: short,
        version,
        hashes: hashes(integrity),
        ...licensed(licenseOf(name, read(`${folder}/package.json`).license)),
        purl: `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`,
      }
    }),
    dependencies: [
      { ref: own, dependsOn: needs('') },
      ...folders.map(ref => ({ ref, dependsOn: needs(ref) })),
    ],
  })
}

const nameOf = (/** @type {string} */ folder) => folder.slice(folder.lastIndexOf('node_modules/') + 13)

/** The folder of a package by its name, seen from another one. */
function nearest(packages, /** @type {string} */ from, /** @type {string} */ name) {
  const found = `${from && `${from}/`}node_modules/${name}`
  if (found in packages || from === '') return found
  return nearest(packages, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name)
}

/** One license has a name of its own there; alternatives are an expression. */
const licensed = (/** @type {string} */ spdx) => ({
  licenses: [/^[\w.+-]+$/.test(spdx) ? { license: { id: spdx } } : { expression: spdx }],
})

/** The integrity of a lock file in hexadecimal. */
const hashes = (/** @type {string} */ integrity) =>
  integrity.split(' ').map(hash => {
    const [, bits, content] = /^sha(\d+)-(.+)$/.exec(hash)
    return { alg: `SHA-${bits}`, content: Buffer.from(content, 'base64').toString('hex') }
  })

// The official schemas are 850 kB, mostly descriptions. The bundle contains what src/acp/schema checks, and once what both
// versions define alike.
import { readFile } from 'node:fs/promises'

/** What the schema of a value says that isn't checked. Its members may have the same names. */
const NOT_CHECKED = /^(title|description|default|format|discriminator|contentEncoding|x-(?!side|method).*)$/

/** @type {import('esbuild').Plugin} */
export const smallSchemas = {
  name: 'small-schemas',
  setup(build) {
    build.onLoad({ filter: /[\\/]schema[\\/]v[12][\\/]schema\.unstable\.json$/ }, async ({ path }) => {
      const first = path.replace(/v2(?=[\\/][^\\/]*$)/, 'v1')
      const own = await definitionsIn(path)
      if (path === first)
        return { contents: JSON.stringify({ $defs: Object.fromEntries(own) }), loader: 'json' }
      const others = await definitionsIn(first)
      const isShared = (/** @type {string} */ name) =>
        JSON.stringify(own.get(name)) === JSON.stringify(others.get(name))
      const names = [...own.keys()]
      const apart = names.filter(name => !isShared(name)).map(name => [name, own.get(name)])
      return {
        contents: `import first from ${JSON.stringify(first)} with { type: 'json' }
          const $defs = ${JSON.stringify(Object.fromEntries(apart))}
          for (const name of ${JSON.stringify(names.filter(isShared).join(' '))}.split(' '))
            $defs[name] = first.$defs[name]
          export default { $defs }`,
        loader: 'js',
      }
    })
  },
}

/** The definitions of the messages between an agent and its client, and those that they refer to. */
async function definitionsIn(/** @type {string} */ file) {
  const { $defs } = JSON.parse(await readFile(file, 'utf8'))
  const all = checkedPart($defs, true)
  const messages = Object.keys(all).filter(name => (all[name]['x-side'] ?? 'proxy') !== 'proxy')
  /** @type {Map<string, unknown>} */
  const found = new Map()
  const open = ['RequestId', 'Error', ...messages]
  for (const name of open) {
    if (found.has(name)) continue
    found.set(name, all[name])
    for (const [, other] of JSON.stringify(all[name]).matchAll(/"#\/\$defs\/(\w+)"/g)) open.push(other)
  }
  return found
}

/** @returns {any} */
function checkedPart(/** @type {any} */ schema, isMembers = false) {
  if (Array.isArray(schema)) return schema.map(part => checkedPart(part))
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.entries(schema).filter(
    ([key, part]) =>
      isMembers || !(NOT_CHECKED.test(key) || (key === 'additionalProperties' && part === true)),
  )
  return Object.fromEntries(
    parts.map(([key, part]) => [key, checkedPart(part, key === 'properties' && !isMembers)]),
  )
}

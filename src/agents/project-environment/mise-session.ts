import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { inflateSync } from 'node:zlib'
import * as z from 'zod'
import { isWithin } from '../../common/file-names.ts'
import { type Environment, pathDelimiter, pathVariable } from '../../common/processes/spawn-process.ts'
import type { LaunchEnvironment } from '../launch-environment.ts'

const strings = z.record(z.string(), z.string())
const diffSchema = z.object({ old: strings, new: strings, path: z.array(z.string()) })
const sessionSchema = z.object({ loaded_configs: z.array(z.string()) })

/** The maximum size of mise's unpacked data, in bytes. */
const MAX_UNPACKED = 1_000_000

/**
 * Whether the editor was started from a shell in which mise had loaded the environment of a project that doesn't contain `folder`. mise's
 * global environment doesn't count.
 */
export function isOfOtherProject(env: Readonly<Environment>, folder: string): boolean {
  if (readDiff(env) === undefined) return false
  const session = sessionSchema.safeParse(unpacked(env.__MISE_SESSION))
  if (!session.success) return true
  return session.data.loaded_configs.some(file => !isGlobal(file, env) && !isWithin(configRoot(file), folder))
}

/** Returns the changes that revert mise's changes in the shell; `null` removes a variable. Returns `undefined` if there are none. */
export function undoMise({
  env,
  platform,
}: Pick<LaunchEnvironment, 'env' | 'platform'>): Record<string, string | null> | undefined {
  const diff = readDiff(env)
  if (!diff) return undefined
  const added = new Set(diff.path)
  // mise added each folder once, at the start of the PATH, so only the first occurrence is removed.
  const delimiter = pathDelimiter(platform)
  const path = pathVariable(env, platform)
    .split(delimiter)
    .filter(directory => !added.delete(directory))
  const state = Object.keys(env).filter(name => /^__MISE_|^MISE_SHELL$/.test(name))
  return {
    ...Object.fromEntries([...state, ...Object.keys(diff.new)].map(name => [name, null])),
    ...diff.old,
    ...(added.size < diff.path.length && { PATH: path.join(delimiter) }),
  }
}

function readDiff({ __MISE_DIFF }: Readonly<Environment>): z.infer<typeof diffSchema> | undefined {
  const { data } = diffSchema.safeParse(unpacked(__MISE_DIFF))
  const isEmpty = !data || [data.old, data.new, data.path].every(part => Object.keys(part).length === 0)
  return isEmpty ? undefined : data
}

/** Returns the folder to which a file of mise belongs: `a` for `a/mise.toml`, `a/.config/mise/conf.d/b.toml` and similar files. */
function configRoot(file: string): string {
  return dirname(file).replace(/(?:[\\/](?:\.config|\.?mise|conf\.d))+$/, '') || dirname(file)
}

function isGlobal(file: string, env: Readonly<Environment>): boolean {
  const { HOME = homedir(), XDG_CONFIG_HOME = join(HOME, '.config') } = env
  const { MISE_CONFIG_DIR = join(XDG_CONFIG_HOME, 'mise'), MISE_SYSTEM_DIR = '/etc/mise' } = env
  return (
    file === env.MISE_GLOBAL_CONFIG_FILE || isWithin(MISE_CONFIG_DIR, file) || isWithin(MISE_SYSTEM_DIR, file)
  )
}

/** Decodes mise's state, which is compressed MessagePack in Base64. */
function unpacked(packed: string | undefined): unknown {
  if (packed === undefined) return undefined
  try {
    return decode(inflateSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_UNPACKED }))
  } catch {
    return undefined
  }
}

/** Decodes the parts of MessagePack that mise writes. Numbers and bytes become `undefined`. Throws if the data is damaged. */
function decode(bytes: Buffer): unknown {
  let at = 0
  const take = (length: number) => {
    at += length
    if (at > bytes.length) throw new RangeError('The data is cut.')
    return bytes.subarray(at - length, at)
  }
  const number = (length: number) => take(length).readUIntBE(0, length)
  const text = (length: number) => take(length).toString()
  const skip = (length: number) => void take(length)
  const array = (length: number) => Array.from({ length: Math.min(length, bytes.length) }, value)
  const map = (length: number) =>
    Object.fromEntries(Array.from({ length: Math.min(length, bytes.length) }, () => [value(), value()]))
  function value(): unknown {
    const type = number(1)
    if (type < 0x80 || type >= 0xe0) return undefined
    if (type < 0x90) return map(type & 0x0f)
    if (type < 0xa0) return array(type & 0x0f)
    if (type < 0xc0) return text(type & 0x1f)
    if (type < 0xc4) return type === 0xc3
    if (type < 0xc7) return skip(number(1 << (type - 0xc4)))
    if (type === 0xca || type === 0xcb) return skip(type === 0xca ? 4 : 8)
    if (type >= 0xcc && type < 0xd4) return skip(1 << (type & 3))
    if (type >= 0xd9 && type < 0xdc) return text(number(1 << (type - 0xd9)))
    if (type >= 0xdc) return (type < 0xde ? array : map)(number(type & 1 ? 4 : 2))
    throw new TypeError(`Unknown type ${type}.`)
  }
  return value()
}

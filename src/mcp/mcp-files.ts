import { readFile } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser'
import { isRecord } from '../common/is-record.ts'
import { MAX_MCP_FILE_BYTES, MAX_MCP_SERVERS } from '../common/limits.ts'
import { readBounded, TooLargeError } from '../common/read-bounded.ts'
import { type McpPlace, type McpSource, placeProblem, readMcpSource } from './mcp-settings.ts'
import { hasTooManyTokens } from './too-many-tokens.ts'

/** JSON tokens of a workspace file, whose settings may be long. */
const MAX_WORKSPACE_TOKENS = 40_000

/** The locations of files with MCP servers. All paths are absolute and on this machine's disk. */
export interface McpFileLocations {
  folders: ReadonlyArray<{ name: string; path: string }>
  workspaceFile: string | undefined
  /** The folder of the editor's user settings, in a remote window those of the remote machine. */
  userFolder: string
  /** The URI of the workspace file or the first folder, to which the editor may have assigned a profile. */
  workspaceIdentity: string
}

type McpFile = McpPlace & { file: string }

/** The files that may define servers, whether or not they exist, in order of precedence. */
export async function mcpFiles(locations: McpFileLocations): Promise<McpFile[]> {
  const { folders, workspaceFile } = locations
  const inFolder = (kind: McpFile['kind'], ...names: string[]) =>
    folders.map(
      ({ name, path: folder }): McpFile => ({
        kind,
        label: folders.length > 1 ? [name, ...names].join('/') : names.join('/'),
        scope: 'folder',
        folder: name,
        file: path.join(folder, ...names),
      }),
    )
  return [
    ...inFolder('vscodeFolder', '.vscode', 'mcp.json'),
    ...(workspaceFile === undefined
      ? []
      : [
          {
            kind: 'vscodeWorkspace' as const,
            label: path.basename(workspaceFile),
            scope: 'workspace' as const,
            file: workspaceFile,
          },
        ]),
    {
      kind: 'vscodeUser',
      label: l10n.t('user mcp.json'),
      scope: 'user',
      file: await userMcpFile(locations),
    },
    ...inFolder('mcpJson', '.mcp.json'),
  ]
}

/**
 * The user's `mcp.json`: that of the profile that the editor uses for the workspace. No API tells which one that is; the
 * editor stores it in `globalStorage/storage.json` of its user folder (read in VS Code 1.103 and 1.139).
 */
async function userMcpFile({ userFolder, workspaceIdentity }: McpFileLocations): Promise<string> {
  const usual = path.join(userFolder, 'mcp.json')
  let stored: unknown
  try {
    stored = JSON.parse(await readFile(path.join(userFolder, 'globalStorage', 'storage.json'), 'utf8'))
  } catch {
    return usual
  }
  if (!isRecord(stored)) return usual
  const { profileAssociations, userDataProfiles } = stored
  const assigned = isRecord(profileAssociations) ? profileAssociations.workspaces : undefined
  const id = isRecord(assigned) ? assigned[workspaceIdentity] : undefined
  const profiles = Array.isArray(userDataProfiles) ? userDataProfiles : []
  const profile = profiles.find(one => isRecord(one) && one.location === id)
  // an id is the name of the profile's folder, never a path
  if (typeof id !== 'string' || !/^[\w-]+$/.test(id) || !isRecord(profile)) return usual
  const sharesUsual = isRecord(profile.useDefaultFlags) && profile.useDefaultFlags.mcp === true
  return sharesUsual ? usual : path.join(userFolder, 'profiles', id, 'mcp.json')
}

/** Reads a file. `undefined`: it doesn't exist or defines nothing. Never rejects. */
export async function readMcpFile(place: McpFile): Promise<McpSource | undefined> {
  const invalid = (message: string): McpSource => ({
    ...place,
    entries: [],
    inputs: [],
    problems: [placeProblem(place, [], message)],
  })
  let text: string
  try {
    text = await readBounded(place.file, MAX_MCP_FILE_BYTES)
  } catch (error) {
    if (error instanceof TooLargeError)
      return place.kind === 'vscodeWorkspace' ? undefined : invalid(l10n.t('the file is larger than 1 MB'))
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : invalid(l10n.t("the file can't be read"))
  }
  try {
    return sourceIn(place, text, invalid)
  } catch {
    // nested thousands of times
    return invalid(l10n.t('the file is nested too deeply'))
  }
}

function sourceIn(
  place: McpFile,
  content: string,
  invalid: (message: string) => McpSource,
): McpSource | undefined {
  const text = content.replace(/^\uFEFF/, '')
  const isWorkspaceFile = place.kind === 'vscodeWorkspace'
  const tooMany = () => invalid(l10n.t('the file has too many entries'))
  if (hasTooManyTokens(text, isWorkspaceFile ? MAX_WORKSPACE_TOKENS : undefined)) return tooMany()
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  // as VS Code treats an empty file
  if (text.trim() === '') return isWorkspaceFile ? undefined : readMcpSource(place, {})
  if (error || !tree) {
    const lines = text.slice(0, error?.offset ?? 0).split('\n')
    return invalid(
      l10n.t(
        "the file isn't valid JSON (line {0}, column {1})",
        lines.length,
        (lines.at(-1)?.length ?? 0) + 1,
      ),
    )
  }
  const root = isWorkspaceFile ? findNodeAtLocation(tree, ['settings', 'mcp']) : tree
  if (!root) return undefined
  if (isWorkspaceFile && hasTooManyTokens(text.slice(root.offset, root.offset + root.length)))
    return tooMany()
  const source = readMcpSource(place, getNodeValue(root))
  for (const [path, name] of repeated(root))
    source.problems.push(
      placeProblem(place, path, l10n.t('"{0}" is defined more than once; the last one is used', name), false),
    )
  return source
}

/** The servers that a file names twice. JSON allows that, and every reader takes the last one. */
function repeated(root: Node): Array<[path: string[], name: string]> {
  return ['servers', 'mcpServers'].flatMap(key => {
    const names = (findNodeAtLocation(root, [key])?.children ?? []).map(({ children }) =>
      String(children?.[0]?.value),
    )
    const seen = new Set<string>()
    const twice = names.filter(name => seen.has(name) || !seen.add(name))
    return [...new Set(twice)].slice(0, MAX_MCP_SERVERS).map((name): [string[], string] => [[key], name])
  })
}

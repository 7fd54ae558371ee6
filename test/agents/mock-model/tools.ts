import type { JsonSchema, OfferedTool, ToolUse, Work } from './model.ts'

/** Work that any suitable tool does. */
type NamedWork = Exclude<Work, { do: 'tool' }>

/** The names that agents give to the tools for each kind of work. The first one that an agent offers is used. */
const NAMES: Record<NamedWork['do'], string[]> = {
  read: ['read_file', 'read', 'view', 'Read'],
  edit: ['search_replace', 'replace', 'edit', 'edit_file', 'Edit'],
  write: ['write', 'write_file', 'create_file', 'Write'],
  shell: [
    'run_terminal_command',
    'run_terminal_cmd',
    'run_shell_command',
    'exec_command',
    'bash',
    'shell',
    'Bash',
  ],
  delegate: ['spawn_agent'],
  plan: ['todo_write', 'write_todos', 'update_plan'],
}

/** The call of a tool that can do the work; `undefined` if the agent offers none. */
export function toolUseFor(work: Work, tools: OfferedTool[]): Omit<ToolUse, 'id'> | undefined {
  if (work.do === 'tool') {
    // the shortest, since the name of one tool may be the end of another's
    const [tool] = tools
      .filter(
        ({ name, namespace = '' }) =>
          name.endsWith(work.name) && `${namespace}${name}`.includes(work.server ?? ''),
      )
      .toSorted((a, b) => a.name.length - b.name.length)
    if (!tool) return undefined
    return {
      name: tool.name,
      ...(tool.namespace ? { namespace: tool.namespace } : {}),
      arguments: work.input,
    }
  }
  for (const wanted of NAMES[work.do]) {
    const tool = tools.find(({ name }) => name === wanted)
    if (!tool) continue
    const { name, namespace } = tool
    return { name, ...(namespace ? { namespace } : {}), arguments: argumentsFor(work, tool.schema) }
  }
  const command = commandFor(work)
  return command === undefined ? undefined : toolUseFor({ do: 'shell', command }, tools)
}

/** An edit with `apply_patch` in the shell, for an agent that has no other way to edit files. */
function commandFor(work: Work): string | undefined {
  const patch = (...lines: string[]) =>
    ["apply_patch <<'EOF'", '*** Begin Patch', ...lines, '*** End Patch', 'EOF', ''].join('\n')
  const marked = (mark: string, text: string) =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .map(line => mark + line)
  switch (work.do) {
    case 'read':
      return `cat ${work.path}`
    case 'edit':
      return patch(
        `*** Update File: ${work.path}`,
        '@@',
        ...marked('-', work.oldText),
        ...marked('+', work.newText),
      )
    case 'write':
      return patch(`*** Add File: ${work.path}`, ...marked('+', work.content))
    default:
      return undefined
  }
}

/** Fills in the arguments of a tool by the property names of its schema. */
function argumentsFor(work: NamedWork, schema: JsonSchema): Record<string, unknown> {
  const filled: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const known = valueFor(work, name.toLowerCase().replace(/[^a-z]/g, ''), property)
    if (known !== undefined) filled[name] = known
    else if (schema.required?.includes(name)) filled[name] = anything(name, property)
  }
  return filled
}

function valueFor(work: NamedWork, name: string, property: JsonSchema): unknown {
  if (work.do === 'plan') {
    if (!['todos', 'plan', 'items'].includes(name)) return undefined
    const fields = property.items?.properties ?? {}
    return work.entries.map((entry, index) =>
      Object.fromEntries(
        Object.entries(fields).flatMap(([field, schema]): Array<[string, unknown]> => {
          if (/^(content|description|step|task|title)$/.test(field)) return [[field, entry.content]]
          if (field === 'status') return [[field, entry.status]]
          if (field === 'id') return [[field, String(index + 1)]]
          return property.items?.required?.includes(field) ? [[field, anything(field, schema)]] : []
        }),
      ),
    )
  }
  if (work.do === 'delegate') return name === 'message' ? work.task : undefined
  if (work.do === 'shell') return ['command', 'cmd'].includes(name) ? work.command : undefined
  if (['filepath', 'path', 'absolutepath', 'targetfile', 'file', 'filename'].includes(name)) return work.path
  if (work.do === 'edit') {
    if (['oldstring', 'oldstr', 'oldtext'].includes(name)) return work.oldText
    if (['newstring', 'newstr', 'newtext'].includes(name)) return work.newText
  }
  if (work.do === 'write' && ['content', 'contents', 'filetext', 'newstring'].includes(name))
    return work.content
  // An editing tool that also creates files gets no old text, only new text.
  if (work.do === 'write' && name === 'oldstring') return ''
  return undefined
}

/** A value for a property that the script doesn't know. */
function anything(name: string, schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0]
  const union = schema.anyOf?.find(({ type }) => type !== 'null')?.type
  const type = Array.isArray(schema.type) ? schema.type.find(candidate => candidate !== 'null') : schema.type
  switch (String(type ?? union).toLowerCase()) {
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return /timeout/i.test(name) ? 120_000 : 1
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return `mock ${name}`
  }
}

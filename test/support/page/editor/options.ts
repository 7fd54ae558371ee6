/** An entry in the menu of the playground: a session with an agent, and what is said in it. */
export interface PlaygroundState {
  title: string
  agentId: string
  prompt: string
}

/** What a window opens, in the environment of its process. */
export interface PageWindowOptions {
  /** the extension's folder, with its build in `dist/` */
  extension: string
  userData: string
  /** a folder with those of other extensions, each named as the extension, with a `main.cjs` */
  extensions?: string
  /** a `.code-workspace` file or a folder */
  workspace?: string
  /** the port of the page on this machine; any free one by default */
  port?: number
  language?: string
  /** the file with the translations for that language */
  bundle?: string
  /** Shows a menu with these. */
  states?: PlaygroundState[]
}

export const optionsVariable = 'PARLEY_PAGE_WINDOW'
export const options = JSON.parse(process.env[optionsVariable] ?? '{}') as PageWindowOptions
/** Set as soon as the page is served. */
export const served = { origin: '' }

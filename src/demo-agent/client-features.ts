import type { ClientCapabilities } from '@agentclientprotocol/sdk'

/** What the client offers, as questions. What it does not name it does not have. */
export interface ClientFeatures {
  readTextFile: boolean
  writeTextFile: boolean
  terminal: boolean
  booleans: boolean
  notices: boolean
  compaction: boolean
  forms: boolean
  visits: boolean
}

export const NO_FEATURES: ClientFeatures = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  booleans: false,
  notices: false,
  compaction: false,
  forms: false,
  visits: false,
}

export function clientFeatures(capabilities: ClientCapabilities | undefined): ClientFeatures {
  return {
    readTextFile: capabilities?.fs?.readTextFile === true,
    writeTextFile: capabilities?.fs?.writeTextFile === true,
    terminal: capabilities?.terminal === true,
    booleans: isOffered(capabilities?.session?.configOptions?.boolean),
    notices: isOffered(capabilities?.session?.notices),
    compaction: isOffered(capabilities?.session?.compaction),
    forms: isOffered(capabilities?.elicitation?.form),
    visits: isOffered(capabilities?.elicitation?.url),
  }
}

function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false
}

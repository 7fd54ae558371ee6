import { describeCodex } from './codex.ts'

describeCodex(2)

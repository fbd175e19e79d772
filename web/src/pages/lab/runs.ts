import type { Schemas } from '../../api/client';

export const isOver = (state: Schemas['LabState'] | undefined) =>
  state !== undefined && state !== 'queued' && state !== 'running';

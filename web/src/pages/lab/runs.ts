import type { Schemas } from '../../api/client';

export const isOver = (state: Schemas['LabState'] | undefined) => state === 'done' || state === 'failed' || state === 'cancelled';

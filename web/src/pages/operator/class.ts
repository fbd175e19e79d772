import type { Schemas } from '../../api/client';

// Slot classes as forms have them: memory in GiB.

type SlotClass = Schemas['SlotClass'];
type Edit = Schemas['SlotClassEdit'];

export type ClassForm = { name: string; cores: number; memory: number; gpus: number; gpuMemory: number; price: number };

export const newClass: ClassForm = { name: '', cores: 1, memory: 2, gpus: 0, gpuMemory: 0, price: 0.2 };

export function formOf(c: SlotClass): ClassForm {
  return {
    name: c.name,
    cores: c.cores,
    memory: c.memory_mib / 1024,
    gpus: c.gpus,
    gpuMemory: c.gpu_memory_mib / 1024,
    price: c.price,
  };
}

// All of a class that can be set, as it is.
export function editOf(c: SlotClass): Edit {
  const { cores, memory_mib, gpus, gpu_memory_mib, price, mechanism, params, retired, trial } = c;
  return { cores, memory_mib, gpus, gpu_memory_mib, price, mechanism, params, retired, ...(trial ? { trial } : {}) };
}

// `old` as the form has it; a class that is new starts as those of a new market do.
export function editFrom(form: ClassForm, old?: SlotClass): Edit {
  return {
    ...(old ? editOf(old) : { mechanism: 'vickrey', params: {}, retired: false }),
    cores: form.cores,
    memory_mib: Math.round(form.memory * 1024),
    gpus: form.gpus,
    gpu_memory_mib: form.gpus > 0 ? Math.round(form.gpuMemory * 1024) : 0,
    price: form.price,
  };
}

export type Rule = { mechanism: string; params: Record<string, string> };

export const switched = (c: SlotClass, rule: Rule): Edit => ({
  ...editOf(c),
  mechanism: rule.mechanism,
  params: rule.params,
});

export function withTrial(c: SlotClass, trial: (Rule & { slice: string }) | undefined): Edit {
  const { trial: _, ...rest } = editOf(c);
  return trial ? { ...rest, trial } : rest;
}

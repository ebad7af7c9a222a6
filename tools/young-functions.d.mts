export function keepFunctionsYoung(code: string): string;

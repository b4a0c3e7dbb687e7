// privatize.rs - a private text for a text, from Rust, through the shared library.
//
//   rustc -O examples/privatize.rs $(pkg-config --libs tem)
//   privatize MODEL EPSILON TEXT
//
// The model must be one that this user has built or verified: 'tem build', 'tem verify'.
//
// Any language that can call C can do the same: declare the structs as tem.h has them, with their
// reserved fields 0, and ask tem_version_is_compatible first.
use std::env;
use std::ffi::{CStr, CString};
use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_void};
use std::process::ExitCode;
use std::ptr::{null, null_mut};

const HEADER_VERSION: u32 = 1000; // TEM_VERSION_NUMBER of the tem.h that this file follows

#[repr(C)]
struct TemError {
    status: c_int,
    os_error: c_int,
    line: u64,
    byte: u64,
    file: [c_char; 256],
    message: [c_char; 256],
    reserved: [u64; 4],
}

#[repr(C)]
struct TemMechanismOptions {
    mechanism: *const c_char,
    epsilon: f64,
    beta: f64,
    gamma: f64,
    weights: *const u32,
    certificate: *const c_void,
    reserved: [u64; 8],
}

// As in tests/abi-layout.txt.
const _: () = assert!(size_of::<TemError>() == 568);
const _: () = assert!(size_of::<TemMechanismOptions>() == 112);

#[link(name = "tem")]
extern "C" {
    fn tem_version_is_compatible(header: u32) -> c_int;
    fn tem_model_open(path: *const c_char, model: *mut *mut c_void, error: *mut TemError) -> c_int;
    fn tem_model_trust(model: *mut c_void, hash: *const c_char, run: *const c_void,
                       error: *mut TemError) -> c_int;
    fn tem_model_free(model: *mut c_void);
    fn tem_mechanism_create(model: *const c_void, options: *const TemMechanismOptions,
                            mechanism: *mut *mut c_void, error: *mut TemError) -> c_int;
    fn tem_mechanism_free(mechanism: *mut c_void);
    fn tem_rng_create(rng: *mut *mut c_void, error: *mut TemError) -> c_int;
    fn tem_rng_free(rng: *mut c_void);
    fn tem_privatize_text(mechanism: *const c_void, options: *const c_void, rng: *mut c_void,
                          text: *const c_char, bytes: usize, run: *const c_void,
                          out: *mut *mut c_char, out_bytes: *mut usize, counts: *mut c_void,
                          error: *mut TemError) -> c_int;
    fn tem_text_free(text: *mut c_char);
}

/// What the library has made; freed in reverse order, whatever happens.
struct Session {
    model: *mut c_void,
    mechanism: *mut c_void,
    rng: *mut c_void,
}

impl Drop for Session {
    fn drop(&mut self) {
        unsafe {
            tem_rng_free(self.rng); // NULL does nothing
            tem_mechanism_free(self.mechanism);
            tem_model_free(self.model);
        }
    }
}

/// Runs a call of the library; its message, if it fails.
fn call(f: impl FnOnce(*mut TemError) -> c_int) -> Result<(), String> {
    let mut error: TemError = unsafe { std::mem::zeroed() };
    if f(&mut error) == 0 {
        return Ok(());
    }
    let message = unsafe { CStr::from_ptr(error.message.as_ptr()) };
    Err(message.to_string_lossy().into_owned())
}

fn privatize(model: &str, epsilon: f64, text: &str) -> Result<String, String> {
    if unsafe { tem_version_is_compatible(HEADER_VERSION) } == 0 {
        return Err("this libtem is of another version than the program".to_string());
    }
    let path = CString::new(model).map_err(|_| "the path has a NUL in it".to_string())?;
    let options = TemMechanismOptions {
        mechanism: null(),
        epsilon,
        beta: 0.0,
        gamma: 0.0,
        weights: null(),
        certificate: null(),
        reserved: [0; 8],
    };
    let mut s = Session { model: null_mut(), mechanism: null_mut(), rng: null_mut() };
    let mut out: *mut c_char = null_mut();
    let mut bytes = 0;
    call(|e| unsafe { tem_model_open(path.as_ptr(), &mut s.model, e) })?;
    call(|e| unsafe { tem_model_trust(s.model, null(), null(), e) })?;
    call(|e| unsafe { tem_mechanism_create(s.model, &options, &mut s.mechanism, e) })?;
    call(|e| unsafe { tem_rng_create(&mut s.rng, e) })?;
    call(|e| unsafe {
        tem_privatize_text(s.mechanism, null(), s.rng, text.as_ptr() as *const c_char, text.len(),
                           null(), &mut out, &mut bytes, null_mut(), e)
    })?;
    let private = unsafe { std::slice::from_raw_parts(out as *const u8, bytes) }.to_vec();
    unsafe { tem_text_free(out) };
    String::from_utf8(private).map_err(|_| "the output is not UTF-8".to_string())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let epsilon = arguments.get(2).and_then(|e| e.parse::<f64>().ok());
    if epsilon.is_none() || arguments.len() != 4 {
        eprintln!("usage: privatize MODEL EPSILON TEXT");
        return ExitCode::from(2);
    }
    match privatize(&arguments[1], epsilon.unwrap(), &arguments[3]) {
        Ok(private) => {
            println!("{private}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("privatize: {message}");
            ExitCode::FAILURE
        }
    }
}
